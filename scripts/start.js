// Starts the service from its bundle (scripts/bundle.ts), or from its sources where there is none. Node runs both as they are.
import { existsSync } from 'node:fs'
import { enableCompileCache, setSourceMapsSupport } from 'node:module'
import { fileURLToPath } from 'node:url'

const bundle = new URL('../build/server.js', import.meta.url)

if (existsSync(bundle)) {
  // What was compiled at an earlier start is not compiled again. Where the folder is read-only, it is: nothing else depends on it.
  enableCompileCache(fileURLToPath(new URL('../build/compiled', import.meta.url)))
  // Ours alone: the maps of every package that has some would cost 10 MB.
  setSourceMapsSupport(true, { nodeModules: false, generatedCode: false })
  await import(bundle.href)
} else {
  await import('../src/server.ts')
}
