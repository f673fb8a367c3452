import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

const versionOf = (command: string): string | undefined => {
  try {
    const [, version] = /^Python (\d+\.\d+)/.exec(execFileSync(command, ['--version'], { stdio: 'pipe' }).toString()) ?? []
    return version
  } catch {
    return undefined
  }
}

const ofPyenv = join(process.env.PYENV_ROOT ?? join(homedir(), '.pyenv'), 'versions')
const candidates = [
  'python3',
  ...['9', '10', '11', '12', '13', '14'].map((minor) => `python3.${minor}`),
  ...(existsSync(ofPyenv) ? readdirSync(ofPyenv) : []).map((name) => join(ofPyenv, name, 'bin', 'python3')),
]

const found = candidates.flatMap((command) => {
  const version = versionOf(command)
  return version !== undefined && Number(version.split('.')[1]) >= 9 ? [{ version, command }] : []
})

/** Every Python of this machine that the client supports, one per version. The first is the one behind `python3`. */
export const pythons = [...new Map(found.toReversed().map((one) => [one.version, one])).values()].toReversed()

if (pythons.length === 0) console.warn('There is no Python 3.9 or newer here: payments.py is NOT run.')
