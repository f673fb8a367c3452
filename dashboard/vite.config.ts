import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

const service = 'http://localhost:3000'
const proxied = ['/v1', '/openapi.json', '/docs', '/link', '/.well-known']

const loadedLater =
  /csv-parse|csv-rows|@simplewebauthn|uqr|qr-image|pages\/batches\/|statement-page|pages\/(reconciliation|mandates|top-up|consent|history|developers|account)\/|pages\/policies\/|ui\/(spend-choice|controls-fields|scope-fields|pick-many)|lib\/controls-words|new-beneficiary-page|passkey\/|invitation|agents\/(agents-page|agent-page|connect-agent|stop-all|agent-refusals)|workspace\/(activity|member-grant|revoke-member|workspace-|settings|members|invitations)|(events|requests|notifications|new-workspace|receipt)-page|request-log/

export default defineConfig({
  plugins: [react()],
  // Node's build of it needs Node's buffers and streams.
  resolve: { alias: { 'csv-parse/sync': 'csv-parse/browser/esm/sync' } },
  build: {
    target: ['chrome120', 'firefox121', 'safari17'],
    // The page may run no inline script, so nothing may put one there.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        // What every page begins with in one file, because it compresses best together; what pages load later stays theirs.
        codeSplitting: { groups: [{ name: 'app', test: (id) => !loadedLater.test(id) }] },
      },
    },
  },
  server: { proxy: Object.fromEntries(proxied.map((path) => [path, service])) },
})
