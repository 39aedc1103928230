"""Wrappers: environments made of environments, with the same `reset` and `step`.

From the inside out, an agent's environment is usually

    NormaliseObservations(ScaleRewards(EpisodeStatistics(AutoReset(LastActionAndReward(game)))))

What is inside `AutoReset` starts anew with every episode; what is outside goes on. An order that
gives wrong numbers, or shows what is hidden, raises a ValueError. All but
`AutoReset`, `Vectorised` and `VectorisedAutoReset` also take copies along leading axes.
"""

from untruncated.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(
    __name__,
    {
        "AutoReset": "auto_reset",
        "CheckActions": "check_actions",
        "ClipActions": "clip_actions",
        "EpisodeStatistics": "episode_statistics",
        "LastActionAndReward": "last_action_and_reward",
        "NormaliseObservations": "normalise_observations",
        "ScaleRewards": "scale_rewards",
        "Vectorised": "vectorised",
        "VectorisedAutoReset": "vectorised_auto_reset",
    },
)
