// Command jvm-dotnet writes the SDK of a schema for Java or C#: jvm-dotnet SCHEMA LANGUAGE FOLDER. It is a module of its own because
// C#'s generator left pkg/v3 after this version, and where it is now cannot be had from the Go module proxy.
package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"

	"github.com/pulumi/pulumi-java/pkg/codegen/java"
	"github.com/pulumi/pulumi/pkg/v3/codegen/dotnet"
	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"
)

func main() {
	if len(os.Args) != 4 {
		fail(fmt.Errorf("usage: jvm-dotnet SCHEMA LANGUAGE FOLDER"))
	}
	if err := generate(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fail(err)
	}
}

func generate(file, language, folder string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var spec schema.PackageSpec
	if err := json.Unmarshal(text, &spec); err != nil {
		return err
	}
	pkg, diagnostics, err := schema.BindSpec(spec, nil, schema.ValidationOptions{})
	if err != nil {
		return err
	}
	if diagnostics.HasErrors() {
		return diagnostics
	}
	// The generator downloads a logo, and nothing here needs one.
	logo := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer logo.Close()
	pkg.LogoURL = logo.URL
	var files map[string][]byte
	switch language {
	case "csharp":
		files, err = dotnet.GeneratePackage("uptime", pkg, nil, nil)
	case "java":
		files, err = java.GeneratePackage("uptime", pkg, nil, nil, false, false)
	default:
		err = fmt.Errorf("no SDK can be generated for %q, only for csharp and java", language)
	}
	if err != nil {
		return err
	}
	for name, content := range files {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
