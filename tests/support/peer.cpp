// A peer in C++ that takes no crowd: it refuses each, or fails if its argument says so.
#include "peer.h"

int main(int argc, char** argv) {
    bool fails = argc > 1 && std::string(argv[1]) == "fail";
    return peer::serve(
        R"({"protocol":1,"outputs":["local"],"attributes":[],"normals":[],"rotations":"nlerp"})", false,
        [fails](peer::Load&&) -> peer::Crowd* {
            std::string why = "\"curves\" of C:\\clips\n\x1b[31m";
            if (fails) throw std::runtime_error(why);
            throw peer::Refused(why);
        });
}
