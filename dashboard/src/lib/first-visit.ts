const { dataset } = document.documentElement

/** The service writes into the page that the browser sent no session, so no request is needed to find that out. */
export const hasNoSession = (): boolean => dataset.session === 'none'

/** From now on there may be a session. */
export const expectSession = (): void => {
  delete dataset.session
}
