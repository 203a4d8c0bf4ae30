//# deparser_locals
Mirror(1) mirror;
