// One process for all that comes before a start: each would take as long as what it does.
import './require-node.js'

const [{ ensureDashboardBuilt }, { ensureBundled }] = await Promise.all([import('./build-dashboard.ts'), import('./bundle.ts')])
const [dashboard, service] = await Promise.all([ensureDashboardBuilt(), ensureBundled()])
if (dashboard === 'built') console.log('dashboard: built')
if (service === 'built') console.log('service: bundled')
