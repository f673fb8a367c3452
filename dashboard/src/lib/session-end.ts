import { createStore } from './store.ts'

/** A session that was there has ended, without its owner having asked for that in this tab. */
export const sessionEnded = createStore(false)
