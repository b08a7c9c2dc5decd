/**
 * Ways in which a whole product, rather than a careless reader, serves one path under another: by a script that is part
 * of the path, by a suffix, or by another name of the same file. A gateway cannot know which of them the service behind
 * it has. All paths here are in lower case and decoded.
 */

/**
 * Matches the parts of a path that name a program or a transport of the service, when more of the path follows: what
 * follows is then the path that the program serves (`PATH_INFO`, RFC 3875 §4.1.5).
 *
 * - segments that end like a script, and names in `cgi-bin`
 * - `/_next/data/BUILD/…` (Next.js), `/page-data/…` (Gatsby), `/x.segments/…` (Next.js)
 * - `/VirtualHostBase/http/host:80/…/VirtualHostRoot/…`, `/++skin++x/…` (Zope, Plone)
 */
const program = new RegExp(
  `/(?:${[
    String.raw`[^/]*\.(?:php\d?|phtml|phar|[fs]?cgi|pl|py|rb|lua|wsgi|aspx?|ashx|asmx|axd|svc|dll|exe|cf[cm])`,
    String.raw`[^/]*\.(?:jspx?|jsf|do|action|nsf|shtml?|segments)|f?cgi-bin/[^/]+|_next/data/[^/]+|page-data`,
    String.raw`virtualhostbase/[^/]+/[^/]+|virtualhostroot|\+\+\w+\+\+[^/]*`,
  ].join('|')})(?=/+[^/])`,
);
const programs = new RegExp(program, 'g');

/** Matches a session that ASP.NET takes out of a path, wherever it stands, such as `(S(id))` or `(X(1)F(ticket))`. */
const cookieless = /\((?:[a-z]\([^()/]*\))+\)/;

/** Matches the name of a stream behind that of a file, by which NTFS opens the file itself, such as `::$DATA`. */
const stream = /(?::[^/:]*)?:\$[a-z_\d]*(?=\/|$)/;

const any = new RegExp([program, cookieless, stream].map(({ source }) => source).join('|'));

/** Returns whether {@link behindPrograms} yields paths other than `path`. */
export function hasProgram(path: string): boolean {
  return any.test(path);
}

/** Yields the paths that the service could serve under `path`, by one such habit at one place. */
export function* behindPrograms(path: string): Generator<string> {
  for (const { 0: name, index } of path.matchAll(programs)) {
    const before = path.slice(0, index);
    const after = path.slice(index + name.length);
    yield after;
    yield before + after;
    // Apache's MultiViews and nginx's try_files find `/admin.php` for `/admin`.
    yield before + name.replace(/\.\w+$/, '') + after;
  }
  yield path.replace(cookieless, '');
  yield path.replace(new RegExp(`(?<=.)/${cookieless.source}`), '');
  yield path.replace(stream, '');
}

/** Matches plain paths that may have a program or {@link otherFormOf another form}. Most paths have neither. */
export const mayBeServedElsewhere =
  /[.(~]|:\$|\/(?:f?cgi-bin|_next\/data|page-data|virtualhost(?:base|root))\//;

/**
 * Returns a pattern of paths that some services take for `prefix` or a path below it:
 *
 * - with the suffix of a format, `/rates.json` (Rails, Spring, Django REST framework, Struts, React Router, Next.js)
 * - with a key, `/rates(1)` (OData)
 * - under the short names of Windows, `/ADMINI~1` for `/administration`
 */
export function otherFormOf(prefix: string): RegExp {
  const literal = (text: string): string => text.replace(/[^a-z0-9/]/g, '\\$&');
  const names = prefix.replace(/[^/]+/g, (name) => {
    const short = name.replace(/[ .]/g, '');
    return `(?:${literal(name)}|(?:${literal(short.slice(0, 6))}|${literal(short.slice(0, 2))}[\\da-f]{4})~\\d[^/]*)`;
  });
  return new RegExp(`^${names}(?:[/(]|\\.[a-z][^/]*/?$|$)`);
}
