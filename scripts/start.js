// Starts the service from its bundle (scripts/bundle.ts), or from its sources where there is none. Node runs both as they are.
import { existsSync } from 'node:fs'
import { enableCompileCache, setSourceMapsSupport } from 'node:module'
import { fileURLToPath } from 'node:url'

const bundle = new URL('../build/server.js', import.meta.url)

if (existsSync(bundle)) {
  // Compiled code is kept for later starts. Where the folder is read-only, it is compiled again: nothing else depends on it.
  enableCompileCache(fileURLToPath(new URL('../build/compiled', import.meta.url)))
  // Source maps only for our own code: those of all packages would cost 10 MB.
  setSourceMapsSupport(true, { nodeModules: false, generatedCode: false })
  await import(bundle.href)
} else {
  await import('../src/server.ts')
}
