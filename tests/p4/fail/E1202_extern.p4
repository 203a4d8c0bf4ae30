//# locals
Resubmit() resubmit;
