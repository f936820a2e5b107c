// In place of modules that no unit test needs.
