import type { App } from './app-type.ts'
import { registerClientPackage } from './client-package.ts'
import { registerDocs } from './docs.ts'
import { type ForeignCode, registerErrorDocs } from './error-docs.ts'
import { registerGuides } from './guides.ts'
import { registerVerifyPage } from './verify-page.ts'

/** What integrators read and install, and where strangers check receipts: no part of the API. */
export const registerDocumentation = async (app: App, publicUrl: string, foreignCodes: readonly ForeignCode[]): Promise<void> => {
  registerErrorDocs(app, foreignCodes)
  registerGuides(app, publicUrl)
  await registerDocs(app)
  registerClientPackage(app)
  registerVerifyPage(app)
}
