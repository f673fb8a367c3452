// One process for everything before a start: a process for each would take as long as its work.
import './require-node.js'

const [{ ensureDashboardBuilt }, { ensureBundled }] = await Promise.all([import('./build-dashboard.ts'), import('./bundle.ts')])
const [dashboard, service] = await Promise.all([ensureDashboardBuilt(), ensureBundled()])
if (dashboard === 'built') console.log('dashboard: built')
if (service === 'built') console.log('service: bundled')
