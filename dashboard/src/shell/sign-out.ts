import { useMutation } from '@tanstack/react-query'
import { chooseWorkspace } from '../api/chosen-workspace.ts'
import { api, call } from '../api/client.ts'
import { forgetDrafts } from '../lib/drafts.ts'
import { signInPath } from './paths.ts'

/** Loads a new page afterwards, so that nothing stays in memory for the next person. `to`: where the next sign-in leads. */
export const useSignOut = (to = '/') =>
  useMutation({
    mutationFn: () => call(api.POST('/v1/auth/logout')),
    onSettled: () => {
      chooseWorkspace(null)
      forgetDrafts()
      location.assign(signInPath(to))
    },
  })
