import { fastify } from 'fastify'
import { colours } from '../../src/http/page.ts'
import type { Rendered } from './rendered.ts'

/** Height of the link back from the reference, which is also above its layout for phones. */
const headerHeight = '3rem'

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Payments service: API reference</title>
    <link rel="icon" href="/icon.svg" type="image/svg+xml">
    <style>
      :root { color-scheme: light dark; ${colours} --scalar-custom-header-height: ${headerHeight}; }
      body { margin: 0; background: var(--bg); }
      .ways { position: sticky; top: 0; z-index: 10; box-sizing: border-box; height: ${headerHeight}; display: flex; gap: 1rem; align-items: center; padding: 0 1rem; border-bottom: 1px solid var(--line); background: var(--surface); font: 14px/1.5 -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
      .ways a { color: var(--ink); }
      .ways a:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; }
    </style>
  </head>
  <body>
    <nav class="ways" aria-label="Service"><a href="/">Dashboard</a><a href="/docs/guides">Guides</a><a href="/docs/errors">Error codes</a></nav>
    <div id="app"></div>
    <noscript>This reference needs JavaScript; the document itself is at <a href="/openapi.json">/openapi.json</a>.</noscript>
    <script src="/docs/js/scalar.js"></script>
    <script src="/docs/js/start.js"></script>
  </body>
</html>
`

/** The dashboard's colours, with enough contrast for small text on all of the reference's backgrounds. */
const palette = (theme: 'light' | 'dark'): string => {
  const [background, second, third, line, ink, quiet, accent] =
    theme === 'light'
      ? ['#ffffff', '#f7f7f4', '#ededea', '#e5e5df', '#17181c', '#4b4e57', '#3546c4']
      : ['#0e0f12', '#16181c', '#1e2127', '#272b32', '#eceef2', '#b0b5c0', '#a3aeff']
  const [green, red, yellow, blue, orange, purple] =
    theme === 'light'
      ? ['#0f6b46', '#ad2018', '#7f4d00', '#1c5a9e', '#8a3f00', '#5d3db5']
      : ['#66d6a4', '#ff938a', '#f1bf63', '#85bdf7', '#ffb27d', '#c4b0ff']
  return `.${theme}-mode {
  --scalar-background-1: ${background}; --scalar-background-2: ${second}; --scalar-background-3: ${third}; --scalar-background-card: ${second};
  --scalar-border-color: ${line};
  --scalar-color-1: ${ink}; --scalar-color-2: ${quiet}; --scalar-color-3: ${quiet}; --scalar-color-disabled: ${quiet}; --scalar-color-ghost: ${quiet};
  --scalar-color-accent: ${accent}; --scalar-link-color: ${accent};
  --scalar-color-green: ${green}; --scalar-color-red: ${red}; --scalar-color-yellow: ${yellow};
  --scalar-color-blue: ${blue}; --scalar-color-orange: ${orange}; --scalar-color-purple: ${purple}; --scalar-color-alert: ${yellow}; --scalar-color-danger: ${red};
  --scalar-sidebar-color-1: ${ink}; --scalar-sidebar-color-2: ${quiet}; --scalar-sidebar-search-color: ${quiet};
}`
}

const referenceStyle = `${palette('light')}
${palette('dark')}`

/** Loads nothing from other sites: no fonts, telemetry, proxy or assistant. */
const start = `Scalar.createApiReference('#app', {
  url: '/openapi.json',
  theme: 'none',
  customCss: ${JSON.stringify(referenceStyle)},
  telemetry: false,
  withDefaultFonts: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
})
// Attributes for screen readers that the reference omits or sets wrongly.
const repairs = [
  ['button[class*="copy-button"]:not([aria-label])', (button) => button.setAttribute('aria-label', 'Copy')],
  ['button[role]:is([role="none"], [role="alert"])', (button) => button.removeAttribute('role')],
  // The panel for trying a request overlays the page and has notifications of its own.
  ['.scalar-app-layout > section[aria-label^="Notifications alt"]', (notices) => notices.setAttribute('aria-label', 'Notices of the request')],
  ['[role="combobox"]:not([aria-expanded])', (field) => field.setAttribute('aria-expanded', 'false')],
]
const repair = () => {
  for (const [selector, mend] of repairs) document.querySelectorAll(selector).forEach(mend)
}
// At most once for each frame: the page changes thousands of times while it is built.
let asked = false
const later = () => {
  if (asked) return
  asked = true
  requestAnimationFrame(() => {
    asked = false
    repair()
  })
}
new MutationObserver(later).observe(document.body, { childList: true, subtree: true })
repair()
`

/** Allows inline styles, because the reference inserts its own style sheets. Scripts are limited to our own files. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** The reference's script (4 MB), from the plugin. */
const takeScript = async (): Promise<Buffer> => {
  const { default: reference } = await import('@scalar/fastify-api-reference')
  const host = fastify()
  await host.register(reference, { routePrefix: '/docs', configuration: { url: '/openapi.json' } })
  const { rawPayload } = await host.inject('/docs/js/scalar.js')
  await host.close()
  return rawPayload
}

/** The interactive reference at /docs. The plugin's page would start its script with inline code, which our page avoids. */
export const renderReference = async (): Promise<Rendered[]> => {
  const script = { type: 'application/javascript; charset=utf-8', headers: {} }
  return [
    { path: '/docs', page: { headers: { 'content-security-policy': contentSecurityPolicy }, body: page } },
    { path: '/docs/js/start.js', text: { ...script, body: start } },
    { path: '/docs/js/scalar.js', text: { ...script, body: await takeScript() } },
  ]
}
