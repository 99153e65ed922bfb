import { openApiPath } from '@partner-network/contract/operations';

interface PageFiles {
  readonly library: string;
  readonly start: string;
  readonly style: string;
  readonly icon: string;
  readonly guides: string;
}

/**
 * The page at /docs. Addresses are relative, so that it works under a path prefix of a proxy. The nonce
 * allows the style elements that the library makes.
 */
export function pageOf(files: PageFiles, nonce: string): string {
  const relative = (path: string) => path.slice(1);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="The reference of Partner Network: quick start, operations to try, errors.">
<meta name="color-scheme" content="light dark">
<meta property="csp-nonce" content="${nonce}">
<title>Partner Network</title>
<link rel="icon" type="image/svg+xml" href="${relative(files.icon)}">
<link rel="stylesheet" href="${relative(files.style)}">
<link rel="preload" as="fetch" crossorigin href="${relative(openApiPath)}">
<link rel="preload" as="fetch" crossorigin href="${relative(files.guides)}">
<script defer src="${relative(files.start)}" data-document="${relative(openApiPath)}"
 data-guides="${relative(files.guides)}"></script>
<script defer src="${relative(files.library)}"></script>
</head>
<body>
<div id="reference"></div>
<noscript><p class="notice">This page needs JavaScript. All that it tells of the operations is in the
<a href="${relative(openApiPath)}">OpenAPI document</a>, too.</p></noscript>
</body>
</html>
`;
}

/**
 * The Content-Security-Policy: only our own scripts, styles and images. Style attributes are allowed, because
 * the library writes some and they cannot carry a nonce. They can neither select nor load anything.
 */
export function policyOf(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "style-src-attr 'unsafe-inline'",
    "connect-src 'self'",
    "img-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
