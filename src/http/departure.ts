import type { App, Departure } from './app-type.ts'

export const createDeparture = (): Departure => {
  let begun = false
  return {
    begin: () => {
      begun = true
    },
    hasBegun: () => begun,
  }
}

/** From its beginning every answer closes its connection: the client's next request goes to another process. */
export const registerDeparture = (app: App, departure: Departure): void => {
  app.decorate('departure', departure)
  app.addHook('onRequest', (_request, reply, done) => {
    if (departure.hasBegun()) reply.header('connection', 'close')
    done()
  })
  app.addHook('preClose', async () => departure.begin())
}
