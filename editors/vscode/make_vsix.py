#!/usr/bin/env python3
"""Packs the extension for VS Code.

    make_vsix.py FILE.vsix

Install it with `code --install-extension FILE.vsix`. Equal files give equal bytes.
"""

import json
import pathlib
import sys
import zipfile
from xml.sax.saxutils import quoteattr

HERE = pathlib.Path(__file__).resolve().parent
FILES = [HERE / name for name in ("package.json", "language-configuration.json", "connection.js", "convert.js",
                                  "extension.js")] + [HERE.parent / "pdl.tmLanguage.json", HERE.parents[1] / "LICENSE"]

CONTENT_TYPES = """<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
  <Default Extension=".json" ContentType="application/json"/>
  <Default Extension=".js" ContentType="application/javascript"/>
  <Default Extension=".vsixmanifest" ContentType="text/xml"/>
  <Default Extension=".txt" ContentType="text/plain"/>
</Types>
"""


def manifest(package):
    attributes = {key: quoteattr(package[key]) for key in ("name", "publisher", "version", "displayName", "description")}
    engine = quoteattr(package["engines"]["vscode"])
    return f"""<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
  <Metadata>
    <Identity Language="en-US" Id={attributes["name"]} Version={attributes["version"]} Publisher={attributes["publisher"]}/>
    <DisplayName>{package["displayName"]}</DisplayName>
    <Description xml:space="preserve">{package["description"]}</Description>
    <Categories>{",".join(package["categories"])}</Categories>
    <Properties>
      <Property Id="Microsoft.VisualStudio.Code.Engine" Value={engine}/>
      <Property Id="Microsoft.VisualStudio.Code.ExtensionKind" Value="workspace"/>
    </Properties>
    <License>extension/LICENSE.txt</License>
  </Metadata>
  <Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation>
  <Dependencies/>
  <Assets>
    <Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.License" Path="extension/LICENSE.txt" Addressable="true"/>
  </Assets>
</PackageManifest>
"""


def write(path):
    package = json.loads((HERE / "package.json").read_text(encoding="utf-8"))
    parts = [("[Content_Types].xml", CONTENT_TYPES), ("extension.vsixmanifest", manifest(package))]
    for file in FILES:
        name = "LICENSE.txt" if file.name == "LICENSE" else file.name
        parts.append((f"extension/{name}", file.read_text(encoding="utf-8")))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, contents in parts:
            archive.writestr(zipfile.ZipInfo(name), contents, zipfile.ZIP_DEFLATED)


def main():
    if len(sys.argv) != 2 or not sys.argv[1].endswith(".vsix"):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    write(sys.argv[1])
    return 0


if __name__ == "__main__":
    sys.exit(main())
