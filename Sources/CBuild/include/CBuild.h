#pragma once

/// The commit from which this program was built; empty when the build was not told one.
const char *runbus_build_commit(void);
