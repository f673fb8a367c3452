import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

const service = 'http://localhost:3000'
const proxied = ['/v1', '/openapi.json', '/docs', '/link', '/.well-known']

export default defineConfig({
  plugins: [react()],
  json: { namedExports: false },
  build: {
    target: ['chrome120', 'firefox121', 'safari17'],
    // The page may run no inline script, so nothing may put one there.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        // One file has the start of every page, because it compresses best together. Pages that src/pages.tsx loads later stay apart.
        // Code that a page and the reader of its lists share has a file of its own, so that neither loads the other.
        codeSplitting: {
          groups: [
            { name: 'app', tags: ['$initial'], priority: 1 },
            { name: 'list-columns', test: /src\/lib\/(?:list-columns|table-rows)\.ts$/ },
          ],
        },
      },
    },
  },
  server: { proxy: Object.fromEntries(proxied.map((path) => [path, service])) },
})
