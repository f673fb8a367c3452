import { useMutation } from '@tanstack/react-query'
import { chooseWorkspace } from '../api/chosen-workspace.ts'
import { api, call } from '../api/client.ts'
import { forgetDrafts } from '../lib/drafts.ts'
import { signInPath } from './paths.ts'

/** A whole new page afterwards: nothing that was read stays in memory for whoever signs in next. `to`: where they go on. */
export const useSignOut = (to = '/') =>
  useMutation({
    mutationFn: () => call(api.POST('/v1/auth/logout')),
    onSettled: () => {
      chooseWorkspace(null)
      forgetDrafts()
      location.assign(signInPath(to))
    },
  })
