import { keepStored, readStored } from '../lib/store.ts'

let chosen = readStored('workspace', 'session')

/** The workspace of this tab. Null: the session's own, where this person worked last. */
export const chosenWorkspace = (): string | null => chosen

export const chooseWorkspace = (id: string | null): void => {
  chosen = id
  keepStored('workspace', id, 'session')
}
