import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { describeService } from './describe-service.ts'
import { typesOf } from './openapi-to-types.ts'

export const apiTypesFile = fileURLToPath(new URL('../client/src/api.ts', import.meta.url))

export const apiTypes = async (): Promise<string> => typesOf((await describeService()).document)

// Written before every type check, so that the client and the pages are compared with the API as it is now.
if (process.argv[1] === fileURLToPath(import.meta.url)) await writeFile(apiTypesFile, await apiTypes())
