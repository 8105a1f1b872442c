#include <crochet/crochet.hpp>
