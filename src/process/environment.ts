import { readFileSync } from 'node:fs'
import { documentNames, variableNames } from '../config.ts'
import { StartupError } from '../lib/errors.ts'

type Variables = Readonly<Record<string, string | undefined>>

/** A secret file usually ends with a newline that is not part of the secret. */
const readSecret = (name: string, path: string): string => {
  try {
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '')
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
    throw new StartupError(`${name} names the file ${path}, which cannot be read (${String(code)}).`, { cause })
  }
}

/** Reads settings from files, as containers provide secrets: NAME_FILE is the path for NAME. A document may be `@` and a path. */
export const withFiles = (variables: Variables): Record<string, string | undefined> => {
  const filled: Record<string, string | undefined> = { ...variables }
  for (const name of documentNames)
    if (variables[name]?.startsWith('@')) filled[name] = readSecret(name, variables[name].slice(1))
  for (const name of variableNames) {
    const path = variables[`${name}_FILE`]
    if (!path) continue
    if (variables[name]) throw new StartupError(`${name} and ${name}_FILE are both set: remove one.`)
    filled[name] = readSecret(`${name}_FILE`, path)
  }
  // Node would only print a warning, and every call to a provider would fail later.
  if (variables.NODE_EXTRA_CA_CERTS) readSecret('NODE_EXTRA_CA_CERTS', variables.NODE_EXTRA_CA_CERTS)
  return filled
}

/** Environment variables, with missing ones from `.env` in the working directory. */
export const readEnvironment = (): Record<string, string | undefined> => {
  try {
    process.loadEnvFile('.env')
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
    if (code !== 'ENOENT')
      throw new StartupError(`The file .env cannot be read (${String(code)}): correct or remove it.`, { cause })
  }
  return withFiles(process.env)
}
