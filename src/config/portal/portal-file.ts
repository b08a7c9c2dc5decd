import { Type } from 'typebox';
import { integer, list, section, text } from '../setting-types.ts';

/** The section `portal` of the configuration file. */
export const portal = section(
  'The portal: a page on which people of your customers manage their keys (docs/portal.md). It has a listener of its own, and is off without a port.',
  {
    port: Type.Optional(
      integer('Port to listen on, without TLS; 0 takes any free one. Left out: there is no portal.', {
        minimum: 0,
        maximum: 65_535,
        env: 'PORTAL_PORT',
      }),
    ),
    host: text('Address to listen on.', { format: 'host', default: '127.0.0.1', env: 'PORTAL_HOST' }),
    url: Type.Optional(
      text(
        'Address of the portal as browsers see it, such as `https://portal.example.com/`. Links begin with it. Needed with a port. If it has a path, the proxy in front removes that path.',
        { format: 'page-url', env: 'PORTAL_URL' },
      ),
    ),
    name: text('Name at the top of the page, such as that of your API.', { default: 'API keys' }),
    logo_file: Type.Optional(
      text(
        'Picture beside the name: `.svg`, `.png`, `.jpg` or `.webp`, at most 256 KiB. Read at start and on SIGHUP.',
      ),
    ),
    accent: Type.Optional(
      text(
        'Colour of buttons and links, such as `"#1d5dc9"`, in quotes because YAML takes `#` for a comment. The page makes it darker or lighter if it would be hard to read.',
        { format: 'colour' },
      ),
    ),
    links: list(
      'Links at the end of the page, such as documentation and support; at most 5.',
      Type.Object(
        {
          name: text('Text of the link.'),
          url: text('`https:`, `http:` or `mailto:`.', { format: 'link-url' }),
        },
        { additionalProperties: false },
      ),
      {
        maxItems: 5,
        examples: [[{ name: 'Documentation', url: 'https://docs.example.com/' }]],
      },
    ),
    frame_ancestors: list(
      'Origins of the pages that may show the portal in a frame; empty: no page may.',
      Type.String({ format: 'page-origin' }),
      { examples: [['https://app.example.com']] },
    ),
    return_urls: list(
      'Beginnings of the addresses to which the portal may link back (`return_url` of a session); empty: to none.',
      Type.String({ format: 'page-url' }),
      { examples: [['https://app.example.com/']] },
    ),
    session_s: integer('Seconds for which people stay signed in.', {
      minimum: 60,
      maximum: 43_200,
      default: 3_600,
    }),
  },
);
