import { createStore } from './store.ts'

/** The session has ended without a sign-out in this tab. */
export const sessionEnded = createStore(false)
