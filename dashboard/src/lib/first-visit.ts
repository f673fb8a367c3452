const { dataset } = document.documentElement

/** The service writes into the page when the browser brought no session along: then nobody needs to ask who is signed in. */
export const hasNoSession = (): boolean => dataset.session === 'none'

/** From now on there may be one. */
export const expectSession = (): void => {
  delete dataset.session
}
