// Command codegen writes the SDK of a schema for one language: codegen SCHEMA LANGUAGE FOLDER. Its version of pkg/v3 is older than
// the CLI's: C#'s generator left pkg/v3 after it, and where it is now cannot be had from the Go module proxy.
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
	gogen "github.com/pulumi/pulumi/pkg/v3/codegen/go"
	"github.com/pulumi/pulumi/pkg/v3/codegen/python"
	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"
)

func main() {
	if len(os.Args) != 4 {
		fail(fmt.Errorf("usage: codegen SCHEMA LANGUAGE FOLDER"))
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
	// As a package of its own, with a go.mod for example.
	pkg.SupportPack = true
	// C#'s generator downloads a logo, and nothing here needs one.
	logo := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer logo.Close()
	pkg.LogoURL = logo.URL
	var files map[string][]byte
	switch language {
	case "csharp":
		files, err = dotnet.GeneratePackage("uptime", pkg, nil, nil)
	case "go":
		files, err = gogen.GeneratePackage("codegen", pkg, nil)
	case "java":
		files, err = java.GeneratePackage("uptime", pkg, nil, nil, false, false)
	case "python":
		files, err = python.GeneratePackage("codegen", pkg, nil, nil)
	default:
		err = fmt.Errorf("no SDK can be generated for %q, only for csharp, go, java and python", language)
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
