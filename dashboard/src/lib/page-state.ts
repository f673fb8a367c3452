import { createStore } from './store.ts'

const { dataset } = document.documentElement

/** The service marks the page if the browser sent no session, which saves a request. */
export const hasNoSession = (): boolean => dataset.session === 'none'

/** A sign-in at a provider leaves its outcome in the address. */
let signedInHere = new URLSearchParams(location.search).has('outcome')

/** Whether a person has signed in since this page was loaded. */
export const hasSignedInHere = (): boolean => signedInHere

/** A session may exist from now on. */
export const expectSession = (): void => {
  delete dataset.session
  signedInHere = true
}

/** The service marks the page if its providers are simulated. */
export const isMoneySimulated = (): boolean => dataset.rails === 'sandbox'
export const isIdentitySimulated = (): boolean => dataset.identity === 'sandbox'
export const hasFees = (): boolean => dataset.fees === 'charged'

/** The session has ended without a sign-out in this tab. */
export const sessionEnded = createStore(false)

let expected = false

/** The next page opens from here without a reload: its content gets the focus, as after every page change. */
export const expectArrival = (): void => {
  expected = true
}

export const takeArrival = (): boolean => {
  const taken = expected
  expected = false
  return taken
}
