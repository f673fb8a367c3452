// Runs all builds before a start in one process, because starting a process takes as long as a build check.
import './require-node.js'

const [{ ensureDashboardBuilt }, { ensureBundled }, { ensureDocsBuilt }, { ensureClientPacked }] = await Promise.all([
  import('./build-dashboard.ts'),
  import('./bundle.ts'),
  import('./build-docs.ts'),
  import('./pack-client.ts'),
])
const [dashboard, service, docs, client] = await Promise.all([
  ensureDashboardBuilt(),
  ensureBundled(),
  ensureDocsBuilt(),
  ensureClientPacked(),
])
if (dashboard === 'built') console.log('dashboard: built')
if (service === 'built') console.log('service: bundled')
if (docs === 'built') console.log('documentation: built')
if (client === 'built') console.log('client: packed')
