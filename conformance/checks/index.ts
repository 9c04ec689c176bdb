/** Every check, in the order in which they are shown. A test holds this list to the files. */
import { joinedNodesAdmitLawfully } from "./agent-pods/joined-nodes-admit-lawfully.ts";
import { joinedNodesGiveWhatPodsSay } from "./agent-pods/joined-nodes-give-what-pods-say.ts";
import { joinedNodesKeepWhatOthersWrite } from "./agent-pods/joined-nodes-keep-what-others-write.ts";
import { joinedNodesRunPodsLawfully } from "./agent-pods/joined-nodes-run-pods-lawfully.ts";
import type { Check } from "../runner/define-check.ts";
import { generationCountsTheSpec } from "./objects/generation-counts-the-spec.ts";
import { damagedMetadataDoesNoHarm } from "./objects/damaged-metadata-does-no-harm.ts";
import { tokensGoWithWhatTheyAreBoundTo } from "./authentication/tokens-go-with-what-they-are-bound-to.ts";
import { whoOneIsDoesNotChange } from "./authentication/who-one-is-does-not-change.ts";
import { integersAreKept } from "./objects/integers-are-kept.ts";
import { oneRequestIsOneObject } from "./objects/one-request-is-one-object.ts";
import { objectsKeepTheirLaws } from "./objects/objects-keep-their-laws.ts";
import { objectsFollowTheModel } from "./objects/objects-follow-the-model.ts";
import { theServerAssignsIdentity } from "./objects/the-server-assigns-identity.ts";
import { collectionsNameTheirKind } from "./pagination/collections-name-their-kind.ts";
import { emptyListsAreLists } from "./pagination/empty-lists-are-lists.ts";
import { limitsHoldAtAnyVersion } from "./pagination/limits-hold-at-any-version.ts";
import { listsComeInKeyOrder } from "./pagination/lists-come-in-key-order.ts";
import { listsStayInTheirNamespace } from "./pagination/lists-stay-in-their-namespace.ts";
import { pagesAreOneSnapshot } from "./pagination/pages-are-one-snapshot.ts";
import { remainingCountsAddUp } from "./pagination/remaining-counts-add-up.ts";
import { sparseSelectorsLoseNothing } from "./pagination/sparse-selectors-lose-nothing.ts";
import { tokensKeepToTheirType } from "./pagination/tokens-keep-to-their-type.ts";
import { tokensStayInScope } from "./pagination/tokens-stay-in-scope.ts";
import { collectionsHaveVersionsOfTheirOwn } from "./versions/collections-have-versions-of-their-own.ts";
import { getsAtAVersion } from "./versions/gets-at-a-version.ts";
import { invalidCombinationsAreRefused } from "./versions/invalid-combinations-are-refused.ts";
import { listsAtAVersion } from "./versions/lists-at-a-version.ts";
import { relistsAdvance } from "./versions/relists-advance.ts";
import { theFutureIsAwaitedOrRefused } from "./versions/the-future-is-awaited-or-refused.ts";
import { versionsChangeWithEveryWrite } from "./versions/versions-change-with-every-write.ts";
import { exactListsExpire } from "./expiry/exact-lists-expire.ts";
import { oldStatesOfEventsAreGone } from "./expiry/old-states-of-events-are-gone.ts";
import { oldWatchesAreRefused } from "./expiry/old-watches-are-refused.ts";
import { tokensExpire } from "./expiry/tokens-expire.ts";
import { bookmarksCanBeResumedFrom } from "./watch/bookmarks-can-be-resumed-from.ts";
import { streamingListsAwaitTheirVersion } from "./watch/streaming-lists-await-their-version.ts";
import { streamingListsSayWhenTheyAreWhole } from "./watch/streaming-lists-say-when-they-are-whole.ts";
import { streamingListsShowOneMoment } from "./watch/streaming-lists-show-one-moment.ts";
import { watchBeginsWithWhatExists } from "./watch/watch-begins-with-what-exists.ts";
import { watchFiltersTheHistory } from "./watch/watch-filters-the-history.ts";
import { watchIsOrdered } from "./watch/watch-is-ordered.ts";
import { watchIsReliable } from "./watch/watch-is-reliable.ts";
import { watchReplaysToList } from "./watch/watch-replays-to-list.ts";
import { readersThatStopHoldNobody } from "./watch/readers-that-stop-hold-nobody.ts";
import { watchResumesExactly } from "./watch/watch-resumes-exactly.ts";
import { watchSelectsNamesEverywhere } from "./watch/watch-selects-names-everywhere.ts";
import { watchStartsAfterItsVersion } from "./watch/watch-starts-after-its-version.ts";
import { watchTellsLawfulLives } from "./watch/watch-tells-lawful-lives.ts";
import { watchesDoNotBeginInTheFuture } from "./watch/watches-do-not-begin-in-the-future.ts";
import { watchesEndAtTheirTimeout } from "./watch/watches-end-at-their-timeout.ts";
import { patchesDoWhatTheySay } from "./writes/patches-do-what-they-say.ts";
import { patchesUnderContention } from "./writes/patches-under-contention.ts";
import { putsCreateWhatIsAbsent } from "./writes/puts-create-what-is-absent.ts";
import { putsFromOneVersion } from "./writes/puts-from-one-version.ts";
import { staleWritesLeaveNoTrace } from "./writes/stale-writes-leave-no-trace.ts";
import { subresourcesKeepTheLawsOfWrites } from "./writes/subresources-keep-the-laws-of-writes.ts";
import { writesAreLinearizable } from "./writes/writes-are-linearizable.ts";
import { collectionsAreDeletedAsSelected } from "./deletion/collections-are-deleted-as-selected.ts";
import { collectionsKeepOwnDefaults } from "./deletion/collections-keep-own-defaults.ts";
import { deletionTimesAreTheServers } from "./deletion/deletion-times-are-the-servers.ts";
import { finalizersMayBeReordered } from "./deletion/finalizers-may-be-reordered.ts";
import { finalizersHoldObjects } from "./deletion/finalizers-hold-objects.ts";
import { graceOnlyShortens } from "./deletion/grace-only-shortens.ts";
import { namespacesTakeTheirObjects } from "./deletion/namespaces-take-their-objects.ts";
import { objectsGoWithTheirLastOwner } from "./deletion/objects-go-with-their-last-owner.ts";
import { optionsMeanTheSameWhereverTheyStand } from "./deletion/options-mean-the-same-wherever-they-stand.ts";
import { policiesHoldForTheirActors } from "./deletion/policies-hold-for-their-actors.ts";
import { preconditionsAreKept } from "./deletion/preconditions-are-kept.ts";
import { unsafeDeletionsAreRefused } from "./deletion/unsafe-deletions-are-refused.ts";
import { dryRunsLeaveNoTrace } from "./dry-run/dry-runs-leave-no-trace.ts";
import { onlyAllIsDry } from "./dry-run/only-all-is-dry.ts";
import { discoveriesSayTheSame } from "./errors/discoveries-say-the-same.ts";
import { discoverySaysWhatIsServed } from "./errors/discovery-says-what-is-served.ts";
import { errorsAreStatusObjects } from "./errors/errors-are-status-objects.ts";
import { mediaTypesAreNegotiated } from "./errors/media-types-are-negotiated.ts";
import { strayFieldsAreHandledByLevel } from "./field-validation/stray-fields-are-handled-by-level.ts";
import { strictTakesBackWhatWasGiven } from "./field-validation/strict-takes-back-what-was-given.ts";
import { requiredFieldsAreRequired } from "./field-validation/required-fields-are-required.ts";
import { typesAreAlwaysValidated } from "./field-validation/types-are-always-validated.ts";
import { definitionsAreServedUntilTheyGo } from "./custom-resources/definitions-are-served-until-they-go.ts";
import { rulesJudgeEveryWrite } from "./custom-resources/rules-judge-every-write.ts";
import { schemasHoldForEveryVerb } from "./custom-resources/schemas-hold-for-every-verb.ts";
import { schemasDecideWhatIsKept } from "./custom-resources/schemas-decide-what-is-kept.ts";
import { selectorsMeanTheSameEverywhere } from "./selectors/selectors-mean-the-same-everywhere.ts";
import { wrongSelectorsAreRefused } from "./selectors/wrong-selectors-are-refused.ts";
import { ownersFollowTheModel } from "./apply/owners-follow-the-model.ts";
import { schemasSayWhatIsOwned } from "./apply/schemas-say-what-is-owned.ts";
import { listsHaveOwnersByElement } from "./apply/lists-have-owners-by-element.ts";
import { refusedAppliesChangeNothing } from "./apply/refused-applies-change-nothing.ts";
import { subresourcesHaveOwnOwners } from "./apply/subresources-have-own-owners.ts";
import { writesOwnWhatTheyChange } from "./apply/writes-own-what-they-change.ts";
import { jsonPatchesFollowTheRfc } from "./patch/json-patches-follow-the-rfc.ts";
import { mergePatchesFollowTheRfc } from "./patch/merge-patches-follow-the-rfc.ts";
import { contentTypesSayWhatAPatchIs } from "./patch/content-types-say-what-a-patch-is.ts";
import { refusedPatchesChangeNothing } from "./patch/refused-patches-change-nothing.ts";
import { statusIsPatchedApart } from "./patch/status-is-patched-apart.ts";
import { differencesLeadFromListToList } from "./strategic/differences-lead-from-list-to-list.ts";
import { whatIsNotNamedIsKept } from "./strategic/what-is-not-named-is-kept.ts";
import { directivesDoWhatTheySay } from "./strategic/directives-do-what-they-say.ts";
import { customResourcesTakeNone } from "./strategic/custom-resources-take-none.ts";
import { acceptChoosesTheAnswer } from "./negotiation/accept-chooses-the-answer.ts";
import { prettyChangesLayoutAlone } from "./negotiation/pretty-changes-layout-alone.ts";
import { metadataCanBeAskedForAlone } from "./negotiation/metadata-can-be-asked-for-alone.ts";
import { pagesAreTheSameInEveryEncoding } from "./encodings/pages-are-the-same-in-every-encoding.ts";
import { whatIsImmutableStays } from "./writes/what-is-immutable-stays.ts";
import { prioritiesComeFromClasses } from "./writes/priorities-come-from-classes.ts";
import { quotasCountWhatIsThere } from "./writes/quotas-count-what-is-there.ts";
import { objectsReadTheSameInEveryEncoding } from "./encodings/objects-read-the-same-in-every-encoding.ts";
import { protobufIsWhole } from "./encodings/protobuf-is-whole.ts";
import { customResourcesHaveNoProtobuf } from "./encodings/custom-resources-have-no-protobuf.ts";
import { cborIsAnOffer } from "./encodings/cbor-is-an-offer.ts";
import { cborIsWhole } from "./encodings/cbor-is-whole.ts";
import { tablesShowTheList } from "./tables/tables-show-the-list.ts";
import { tableWatchesTellRows } from "./tables/table-watches-tell-rows.ts";
import { typesHaveTheirColumns } from "./tables/types-have-their-columns.ts";
import { packedAnswersSayTheSame } from "./compression/packed-answers-say-the-same.ts";
import { metadataFollowsItsGrammar } from "./names/metadata-follows-its-grammar.ts";
import { namesComeFromTheirRequest } from "./names/names-come-from-their-request.ts";
import { namesFollowTheRuleOfTheirType } from "./names/names-follow-the-rule-of-their-type.ts";
import { namesFollowTheirGrammar } from "./names/names-follow-their-grammar.ts";
import { proxiedRequestsReachWhatTheyName } from "./paths/proxied-requests-reach-what-they-name.ts";
import { subresourcesAreBelowTheirResource } from "./paths/subresources-are-below-their-resource.ts";
import { typesAreFoundAtTheirPaths } from "./paths/types-are-found-at-their-paths.ts";
import { everyListComesInJson } from "./encodings/every-list-comes-in-json.ts";
import { dryRunsUseNoQuota } from "./dry-run/dry-runs-use-no-quota.ts";
import { collectionsFollowTheirWriter } from "./versions/collections-follow-their-writer.ts";
import { oneVersionIsOneState } from "./versions/one-version-is-one-state.ts";
import { createsAreJudgedByEveryVerb } from "./writes/creates-are-judged-by-every-verb.ts";
import { racesHaveOneOrder } from "./writes/races-have-one-order.ts";
import { bindingsAreOfOnePod } from "./writes/bindings-are-of-one-pod.ts";
import { namespacesGoOneByOne } from "./namespaces/namespaces-go-one-by-one.ts";
import { namespacesRefuseWhatIsNewOnceTheyGo } from "./namespaces/namespaces-refuse-what-is-new-once-they-go.ts";
import { namespacesWaitForTheirFinalizers } from "./namespaces/namespaces-wait-for-their-finalizers.ts";
import { eventWritesTakeTheirParameters } from "./events/event-writes-take-their-parameters.ts";
import { eventsSayWhatHappened } from "./events/events-say-what-happened.ts";
import { eventsAreOneInTwoGroups } from "./events/events-are-one-in-two-groups.ts";
import { eventsAreNotRewritten } from "./events/events-are-not-rewritten.ts";
import { eventsAreFoundByWhatTheySay } from "./events/events-are-found-by-what-they-say.ts";
import { eventsAreListedAsAsked } from "./events/events-are-listed-as-asked.ts";
import { eventsAreServedAsObjects } from "./events/events-are-served-as-objects.ts";
import { strangersAreRefused } from "./authentication/strangers-are-refused.ts";
import { anonymousCallersComeInAtNamedPaths } from "./authentication/anonymous-callers-come-in-at-named-paths.ts";
import { forgedTokensAreRefused } from "./authentication/forged-tokens-are-refused.ts";
import { keysAreFoundWhereTheFileSays } from "./authentication/keys-are-found-where-the-file-says.ts";
import { keysOfAnIssuerChange } from "./authentication/keys-of-an-issuer-change.ts";
import { tokensAreWhoTheirClaimsSay } from "./authentication/tokens-are-who-their-claims-say.ts";
import { tokensEndWithTheirLifetime } from "./authentication/tokens-end-with-their-lifetime.ts";
import { whoActsAsAnotherIsTheOther } from "./authentication/who-acts-as-another-is-the-other.ts";
import { actingAsAnotherIsARight } from "./authentication/acting-as-another-is-a-right.ts";
import { callersAreWhoTheirTokenSays } from "./authentication/callers-are-who-their-token-says.ts";
import { evictionsKeepTheBudget } from "./eviction/evictions-keep-the-budget.ts";
import { evictionsAreDeletions } from "./eviction/evictions-are-deletions.ts";
import { reviewsSayWhatHappens } from "./authorization/reviews-say-what-happens.ts";
import { nobodyGrantsWhatTheyLack } from "./authorization/nobody-grants-what-they-lack.ts";
import { strangersLearnNothing } from "./authorization/strangers-learn-nothing.ts";
import { authorizersAreAskedInOrder } from "./authorization/authorizers-are-asked-in-order.ts";
import { authorizersThatFailDecideByPolicy } from "./authorization/authorizers-that-fail-decide-by-policy.ts";
import { decisionsAreKeptForTheirLifetime } from "./authorization/decisions-are-kept-for-their-lifetime.ts";
import { webhookConfigurationsAreChecked } from "./webhooks/webhook-configurations-are-checked.ts";
import { unreachableWebhooksDecideByPolicy } from "./webhooks/unreachable-webhooks-decide-by-policy.ts";
import { webhooksAreAskedAndObeyed } from "./webhooks/webhooks-are-asked-and-obeyed.ts";
import { servicesKeepWhatTheyWereGiven } from "./services/services-keep-what-they-were-given.ts";
import { policiesJudgeEveryWrite } from "./policies/policies-judge-every-write.ts";
import { agentsAreSetLawfully } from "./eviction-thresholds/agents-are-set-lawfully.ts";
import { agentsKeepToTheirThresholds } from "./eviction-thresholds/agents-keep-to-their-thresholds.ts";
import { joinedNodesEvictLawfully } from "./eviction-thresholds/joined-nodes-evict-lawfully.ts";

export const allChecks: readonly Check[] = [
  generationCountsTheSpec,
  objectsKeepTheirLaws,
  integersAreKept,
  oneRequestIsOneObject,
  damagedMetadataDoesNoHarm,
  objectsFollowTheModel,
  theServerAssignsIdentity,
  namesComeFromTheirRequest,
  namesFollowTheirGrammar,
  metadataFollowsItsGrammar,
  namesFollowTheRuleOfTheirType,
  subresourcesAreBelowTheirResource,
  proxiedRequestsReachWhatTheyName,
  typesAreFoundAtTheirPaths,
  collectionsNameTheirKind,
  emptyListsAreLists,
  limitsHoldAtAnyVersion,
  listsComeInKeyOrder,
  listsStayInTheirNamespace,
  pagesAreOneSnapshot,
  remainingCountsAddUp,
  sparseSelectorsLoseNothing,
  tokensStayInScope,
  tokensKeepToTheirType,
  getsAtAVersion,
  invalidCombinationsAreRefused,
  listsAtAVersion,
  relistsAdvance,
  theFutureIsAwaitedOrRefused,
  versionsChangeWithEveryWrite,
  collectionsHaveVersionsOfTheirOwn,
  exactListsExpire,
  oldWatchesAreRefused,
  oldStatesOfEventsAreGone,
  tokensExpire,
  bookmarksCanBeResumedFrom,
  streamingListsSayWhenTheyAreWhole,
  streamingListsShowOneMoment,
  streamingListsAwaitTheirVersion,
  watchBeginsWithWhatExists,
  watchFiltersTheHistory,
  watchIsOrdered,
  watchIsReliable,
  watchReplaysToList,
  watchResumesExactly,
  readersThatStopHoldNobody,
  watchSelectsNamesEverywhere,
  watchStartsAfterItsVersion,
  watchTellsLawfulLives,
  watchesDoNotBeginInTheFuture,
  watchesEndAtTheirTimeout,
  patchesDoWhatTheySay,
  patchesUnderContention,
  putsCreateWhatIsAbsent,
  putsFromOneVersion,
  staleWritesLeaveNoTrace,
  racesHaveOneOrder,
  subresourcesKeepTheLawsOfWrites,
  whatIsImmutableStays,
  quotasCountWhatIsThere,
  prioritiesComeFromClasses,
  writesAreLinearizable,
  collectionsAreDeletedAsSelected,
  collectionsKeepOwnDefaults,
  deletionTimesAreTheServers,
  finalizersHoldObjects,
  finalizersMayBeReordered,
  graceOnlyShortens,
  namespacesTakeTheirObjects,
  objectsGoWithTheirLastOwner,
  optionsMeanTheSameWhereverTheyStand,
  policiesHoldForTheirActors,
  preconditionsAreKept,
  unsafeDeletionsAreRefused,
  dryRunsLeaveNoTrace,
  onlyAllIsDry,
  discoverySaysWhatIsServed,
  discoveriesSayTheSame,
  errorsAreStatusObjects,
  mediaTypesAreNegotiated,
  strayFieldsAreHandledByLevel,
  strictTakesBackWhatWasGiven,
  typesAreAlwaysValidated,
  requiredFieldsAreRequired,
  definitionsAreServedUntilTheyGo,
  schemasDecideWhatIsKept,
  schemasHoldForEveryVerb,
  rulesJudgeEveryWrite,
  selectorsMeanTheSameEverywhere,
  wrongSelectorsAreRefused,
  ownersFollowTheModel,
  listsHaveOwnersByElement,
  schemasSayWhatIsOwned,
  refusedAppliesChangeNothing,
  subresourcesHaveOwnOwners,
  writesOwnWhatTheyChange,
  jsonPatchesFollowTheRfc,
  mergePatchesFollowTheRfc,
  contentTypesSayWhatAPatchIs,
  refusedPatchesChangeNothing,
  statusIsPatchedApart,
  differencesLeadFromListToList,
  whatIsNotNamedIsKept,
  directivesDoWhatTheySay,
  customResourcesTakeNone,
  acceptChoosesTheAnswer,
  prettyChangesLayoutAlone,
  metadataCanBeAskedForAlone,
  objectsReadTheSameInEveryEncoding,
  pagesAreTheSameInEveryEncoding,
  protobufIsWhole,
  customResourcesHaveNoProtobuf,
  cborIsAnOffer,
  cborIsWhole,
  tablesShowTheList,
  tableWatchesTellRows,
  typesHaveTheirColumns,
  packedAnswersSayTheSame,
  everyListComesInJson,
  dryRunsUseNoQuota,
  oneVersionIsOneState,
  collectionsFollowTheirWriter,
  bindingsAreOfOnePod,
  createsAreJudgedByEveryVerb,
  namespacesRefuseWhatIsNewOnceTheyGo,
  namespacesWaitForTheirFinalizers,
  namespacesGoOneByOne,
  eventsSayWhatHappened,
  eventWritesTakeTheirParameters,
  eventsAreOneInTwoGroups,
  eventsAreNotRewritten,
  eventsAreFoundByWhatTheySay,
  eventsAreListedAsAsked,
  eventsAreServedAsObjects,
  strangersAreRefused,
  tokensAreWhoTheirClaimsSay,
  tokensEndWithTheirLifetime,
  forgedTokensAreRefused,
  keysAreFoundWhereTheFileSays,
  keysOfAnIssuerChange,
  anonymousCallersComeInAtNamedPaths,
  whoActsAsAnotherIsTheOther,
  actingAsAnotherIsARight,
  callersAreWhoTheirTokenSays,
  whoOneIsDoesNotChange,
  tokensGoWithWhatTheyAreBoundTo,
  evictionsKeepTheBudget,
  evictionsAreDeletions,
  reviewsSayWhatHappens,
  nobodyGrantsWhatTheyLack,
  strangersLearnNothing,
  authorizersAreAskedInOrder,
  authorizersThatFailDecideByPolicy,
  decisionsAreKeptForTheirLifetime,
  servicesKeepWhatTheyWereGiven,
  policiesJudgeEveryWrite,
  webhookConfigurationsAreChecked,
  unreachableWebhooksDecideByPolicy,
  webhooksAreAskedAndObeyed,
  joinedNodesEvictLawfully,
  agentsKeepToTheirThresholds,
  agentsAreSetLawfully,
  joinedNodesRunPodsLawfully,
  joinedNodesAdmitLawfully,
  joinedNodesGiveWhatPodsSay,
  joinedNodesKeepWhatOthersWrite,
];
