// Starts the service from its bundle (scripts/bundle.ts), or from its sources if there is none. Node runs both directly.
import './installed.js'
import { existsSync } from 'node:fs'
// No named import, because an older Node, which `installed.js` rejects, lacks these functions.
import module from 'node:module'
import { fileURLToPath } from 'node:url'

const bundle = new URL('../build/server.js', import.meta.url)

if (existsSync(bundle)) {
  // Caches compiled code for later starts. In a read-only folder, the code is compiled at each start.
  module.enableCompileCache(fileURLToPath(new URL('../build/compiled', import.meta.url)))
  // Only for the bundle, whose source maps cover only our own code.
  module.setSourceMapsSupport(true, { nodeModules: false, generatedCode: false })
  await import(bundle.href)
} else {
  await import('../src/server.ts')
}
