import { pathToFileURL } from 'node:url'
import { formatWithOptions } from 'node:util'

/*
 * A program that runs the protocol's conformance runner for several command lines: nearly all of its work is loading its
 * packages. Its arguments are the runner's file and the command lines as JSON. It prints the output of each as JSON.
 */
const [, , runner = '', commands = '[]'] = process.argv
const parsed: string[][] = JSON.parse(commands)

const printed: string[] = []
for (const [index, command] of parsed.entries()) {
  const lines: string[] = []
  const log = (...values: unknown[]) => void lines.push(formatWithOptions({ colors: false }, ...values))
  Object.assign(console, { log, error: log, warn: log })
  process.argv = [process.execPath, runner, ...command]
  const ended = new Promise<void>((resolve) => {
    // The runner exits with a code after its scenario. It prints its list while it loads.
    Object.assign(process, { exit: () => resolve() })
    if (command[0] === 'list') resolve()
  })
  // A different name each time, so that the runner itself runs again, with the packages already loaded.
  await import(`${pathToFileURL(runner).href}?${index}`)
  await ended
  printed.push(lines.join('\n'))
}
process.stdout.write(JSON.stringify(printed))
