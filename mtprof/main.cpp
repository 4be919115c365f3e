// mtprof: answers questions about recordings and traces on the command line.
#include "mtprof/program.h"

int main(int argc, char** argv) { return mindtorch::mtprof::run_program(argc, argv); }
