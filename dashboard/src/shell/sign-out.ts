import { useMutation } from '@tanstack/react-query'
import { chooseWorkspace } from '../api/chosen-workspace.ts'
import { api } from '../api/client.ts'
import { forgetDrafts } from '../lib/drafts.ts'
import { notifyChoices } from '../lib/notify.ts'
import { signInPath } from './paths.ts'

/** Loads a new page afterwards, so that nothing stays in memory for the next person. `to`: where the next sign-in leads. */
export const useSignOut = (to = '/') =>
  useMutation({
    mutationFn: async () => {
      // The service ends the subscription with the session; the notices that are shown still are the browser's.
      if (notifyChoices.get().push) await import('../lib/push.ts').then(({ forgetPush }) => forgetPush()).catch(() => undefined)
      return api.POST('/v1/auth/logout')
    },
    onSettled: () => {
      chooseWorkspace(null)
      forgetDrafts()
      location.assign(signInPath(to))
    },
  })
