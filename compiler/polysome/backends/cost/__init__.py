"""What a packet costs in generated C++: its instructions, recorded one by one, as LLVM's analyser sees them."""
