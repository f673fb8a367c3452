import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { compiledOnce, programs } from '../harness/programs.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

export type Ended = { code: number | null; signal: NodeJS.Signals | null }

/** A real service process that inherits nothing from this one. */
export type ServerProcess = {
  pid: number
  stdout: () => string
  stderr: () => string
  /** Waits until the output matches. Throws with the whole output if the process ends instead. */
  waitForOutput: (pattern: RegExp) => Promise<RegExpExecArray>
  /** Waits for the printed summary, and returns its addresses. */
  ready: () => Promise<{ url: string; operatorUrl: string }>
  kill: (signal: NodeJS.Signals) => void
  ended: Promise<Ended>
}

/** `command`: default is the program of `npm start`. `cwd`: default is the repository. */
export type SpawnOptions = { command?: readonly [string, ...string[]]; cwd?: string }

/** Our variables that reach the process: other settings of the person who runs the tests must not decide their outcome. */
const inherited = ['PATH', 'HOME', 'TMPDIR', 'LD_LIBRARY_PATH', 'SystemRoot']

/** A start takes seconds on a machine that has nothing else to do. */
export const patience = { timeout: 240_000 }

export const spawnServer = (variables: Record<string, string>, options: SpawnOptions = {}): ServerProcess => {
  const passed = inherited.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]))
  const [program, ...args] = options.command ?? [process.execPath, programs.server]
  const child: ChildProcess = spawn(program, args, {
    cwd: options.cwd ?? root,
    env: { ...Object.fromEntries(passed), ...compiledOnce, PORT: '0', OPERATOR_PORT: '0', LOG_LEVEL: 'warn', ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.add(child)
  const text = { stdout: '', stderr: '' }
  const watchers = new Set<() => void>()
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (chunk: string) => {
      text[name] += chunk
      for (const watcher of watchers) watcher()
    })
  }
  // "close" instead of "exit": by then all output has arrived.
  const ended = once(child, 'close').then(([code, signal]): Ended => {
    running.delete(child)
    return { code, signal }
  })
  const waitForOutput = (pattern: RegExp) =>
    new Promise<RegExpExecArray>((resolve, reject) => {
      const look = () => {
        const match = pattern.exec(text.stdout)
        if (!match) return
        watchers.delete(look)
        resolve(match)
      }
      watchers.add(look)
      look()
      void ended.then(({ code, signal }) =>
        reject(new Error(`ended (${code ?? signal}) without ${pattern}:\n${text.stdout}\n${text.stderr}`)),
      )
    })
  return {
    pid: child.pid ?? 0,
    stdout: () => text.stdout,
    stderr: () => text.stderr,
    waitForOutput,
    ready: async () => {
      const [, url = '', operatorUrl = ''] = await waitForOutput(/API\s+(http\S+)[\s\S]*Operator\s+(http\S+)[\s\S]*\n\n/)
      return { url, operatorUrl }
    },
    kill: (signal) => void child.kill(signal),
    ended,
  }
}

const running = new Set<ChildProcess>()

/** For afterEach: no process outlives its test, also when it failed. */
export const killAll = async (): Promise<void> => {
  await Promise.all(
    [...running].map(async (child) => {
      const closed = once(child, 'close')
      child.kill('SIGKILL')
      await closed
    }),
  )
}
