@node "%~dp0\provider.cjs" %*
