// Starts the service from its bundle (scripts/bundle.ts), or from its sources where there is none. Node runs both as they are.
import './installed.js'
import { existsSync } from 'node:fs'
// Not by their names: an older Node, which `installed.js` refuses, does not have them.
import module from 'node:module'
import { fileURLToPath } from 'node:url'

const bundle = new URL('../build/server.js', import.meta.url)

if (existsSync(bundle)) {
  // Compiled code is kept for later starts. Where the folder is read-only, it is compiled again: nothing else depends on it.
  module.enableCompileCache(fileURLToPath(new URL('../build/compiled', import.meta.url)))
  // Of the bundle, which has maps of our own code only.
  module.setSourceMapsSupport(true, { nodeModules: false, generatedCode: false })
  await import(bundle.href)
} else {
  await import('../src/server.ts')
}
