#include "alps/alps.h"
