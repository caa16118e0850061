#include <libxml/xmlversion.h>
// Debian's libxml2 shows ICU's headers, whose enumerations differ from those of Foundation's own ICU; a module that sees
// both does not compile. Nothing here uses the character encoding handlers, the only structures that depend on it.
#undef LIBXML_ICU_ENABLED
#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <libxml/xmlerror.h>
