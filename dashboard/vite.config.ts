import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

const service = 'http://localhost:3000'
const proxied = ['/v1', '/openapi.json', '/docs', '/link', '/.well-known']

export default defineConfig({
  plugins: [react()],
  json: { namedExports: false },
  build: {
    target: ['chrome120', 'firefox121', 'safari17'],
    // The page must not run inline scripts, so the build must not insert any.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        // One file has the code that every page needs at the start: together it compresses best. Lazy pages have other files.
        // Code that a page and the reader of its lists share has its own file, so that neither loads the other.
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
