#!/usr/bin/env python3
"""Makes a wheel of an install: wheel.py PREFIX VERSION OUT. `pip install` puts its files into the environment's bin, lib, include and
share, where they find each other as in any install. Wheels have no symbolic links: of a program another file is made, of
the library a linker script."""
import base64, hashlib, os, sys, time, zipfile


def main():
    prefix, version, out = sys.argv[1:]
    machine = os.uname().machine
    tag = f"py3-none-linux_{machine}"
    about = f"oxmpi-{version}.dist-info"
    data = f"oxmpi-{version}.data/data"
    record = []
    with zipfile.ZipFile(os.path.join(out, f"oxmpi-{version}-{tag}.whl"), "w", zipfile.ZIP_DEFLATED) as wheel:

        def put(name, content, executable=False):
            info = zipfile.ZipInfo(name, time.gmtime(315532800)[:6])
            info.external_attr = (0o100755 if executable else 0o100644) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(info, content)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(content)}")

        for folder, folders, files in os.walk(prefix):
            folders.sort()
            for file in sorted(files):
                path = os.path.join(folder, file)
                name = os.path.relpath(path, prefix)
                if os.path.islink(path) and name.startswith("lib"):
                    put(f"{data}/{name}", f"INPUT(-l:{os.readlink(path)})\n".encode())
                else:
                    with open(path, "rb") as content:
                        put(f"{data}/{name}", content.read(), os.access(path, os.X_OK))
        text = f"Metadata-Version: 2.1\nName: oxmpi\nVersion: {version}\nSummary: MPI library with the MPI 5.0 standard ABI\n"
        put(f"{about}/METADATA", (text + "License: MIT OR Apache-2.0\nRequires-Python: >=3.8\n").encode())
        put(f"{about}/WHEEL", f"Wheel-Version: 1.0\nGenerator: oxmpi\nRoot-Is-Purelib: false\nTag: {tag}\n".encode())
        put(f"{about}/RECORD", ("\n".join(record) + f"\n{about}/RECORD,,\n").encode())


if __name__ == "__main__":
    main()
