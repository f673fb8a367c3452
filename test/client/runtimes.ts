import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

const ofNvm = join(process.env.NVM_DIR ?? join(homedir(), '.nvm'), 'versions', 'node')
const places = [
  ...(process.env.PATH ?? '').split(':'),
  '/usr/bin',
  '/usr/local/bin',
  ...(existsSync(ofNvm) ? readdirSync(ofNvm) : []).map((version) => join(ofNvm, version, 'bin')),
]

const versionOf = (command: string) => execFileSync(command, ['--version']).toString().split('\n')[0] ?? ''

const nodes = [process.execPath, ...places.map((place) => join(place, 'node'))].filter(existsSync).flatMap((command) => {
  const [, major] = /^v(\d+)\./.exec(versionOf(command)) ?? []
  return Number(major) >= 20 ? [{ runtime: `Node ${major}`, command, args: [] as string[] }] : []
})
const others = places
  .flatMap((place) => [
    { runtime: 'Deno', command: join(place, 'deno'), args: ['run', '--allow-all'] },
    { runtime: 'Bun', command: join(place, 'bun'), args: ['run'] },
  ])
  .filter(({ command }) => existsSync(command))

/** Every program of this machine that can run the client, one per major version of Node. */
export const runtimes = [...new Map([...nodes, ...others].toReversed().map((one) => [one.runtime, one])).values()].toReversed()

for (const version of ['Node 20', 'Node 22', 'Node 24'])
  if (!runtimes.some(({ runtime }) => runtime === version))
    console.warn(`There is no ${version} here: the client is NOT run on it.`)
