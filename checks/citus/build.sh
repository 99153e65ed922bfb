#!/usr/bin/env bash
# Builds Citus from the sources at CITUS_SOURCE, a folder or an archive, and installs it for the Postgres whose
# pg_config is at PG_CONFIG. This takes about five minutes. On Debian, it needs: apt-get install build-essential
# postgresql-server-dev-15 libicu-dev libkrb5-dev liblz4-dev libpam0g-dev libpq-dev libselinux1-dev libssl-dev
# libxslt1-dev libzstd-dev
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
if [ -d "$CITUS_SOURCE" ]; then
  cp -a "$CITUS_SOURCE/." "$folder"
else
  tar -xf "$CITUS_SOURCE" --strip-components=1 -C "$folder"
fi
cd "$folder"
./configure --quiet --without-libcurl
make -s clean
# Without LLVM, which takes half of the time.
make -s -j"$(nproc)" with_llvm=no
make -s install with_llvm=no
