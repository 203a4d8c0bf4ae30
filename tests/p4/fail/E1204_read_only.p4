//# apply
prsr.parser_err = 1;
