// One process for everything before a start: a process for each would take as long as its work.
import './require-node.js'

const [{ ensureDashboardBuilt }, { ensureBundled }, { ensureClientPacked }] = await Promise.all([
  import('./build-dashboard.ts'),
  import('./bundle.ts'),
  import('./pack-client.ts'),
])
const [dashboard, service, client] = await Promise.all([ensureDashboardBuilt(), ensureBundled(), ensureClientPacked()])
if (dashboard === 'built') console.log('dashboard: built')
if (service === 'built') console.log('service: bundled')
if (client === 'built') console.log('client: packed')
