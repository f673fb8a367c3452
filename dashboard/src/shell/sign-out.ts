import { useMutation } from '@tanstack/react-query'
import { adviceFor, isSignedOut } from '../api/error.ts'
import { api, chooseWorkspace } from '../api/queries.ts'
import { notifyChoices } from '../lib/choices.ts'
import { forgetDrafts } from '../lib/drafts.ts'
import { t } from '../lib/language.ts'
import { announce } from '../ui/toast.tsx'
import { signInPath } from './paths.ts'

/** Signs out, and loads a new document, so that no data stays in memory. `to`: return path of the next sign-in. */
export const useSignOut = (to = '/') =>
  useMutation({
    mutationFn: async () => {
      await api.POST('/v1/auth/logout').catch((error: unknown) => {
        // The session has ended already.
        if (!isSignedOut(error)) throw error
      })
      // The service ends the subscription with the session. Visible notifications belong to the browser and are closed here.
      if (notifyChoices.get().push)
        await import('../lib/push.ts').then(({ unsubscribeHere }) => unsubscribeHere()).catch(() => undefined)
    },
    onSuccess: () => {
      chooseWorkspace(null)
      forgetDrafts()
      location.assign(signInPath(to))
    },
    // The sign-in page would suggest that the session has ended, while the next person at this computer could still use it.
    onError: (error) => announce(`${t('sign_out.failed')} ${adviceFor(error)}`, 'bad'),
  })
