//# types
#define X 5
