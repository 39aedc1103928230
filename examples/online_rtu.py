"""Online learning with exact gradients: name the bit that was shown DELAY steps ago."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax

from untruncated.layers import LinearRTU

DELAY, STEPS, REPORT = 5, 20_000, 2_000
rtu, head, optimiser = LinearRTU(width=32), nn.Dense(1), optax.adam(1e-3)
bits = jax.random.rademacher(jax.random.key(0), (STEPS, 1), jnp.float32)
targets = jnp.roll(bits, DELAY)

start = rtu.initialize_carry(None, bits[0].shape)
(_, features), rtu_params = rtu.init_with_output(jax.random.key(1), start, bits[0])
params = rtu_params, head.init(jax.random.key(2), features)


def learn_step(state, example):
    """Predict, compare, follow the gradient: the past is in the layer's carry."""
    params, moments, carry = state
    x, target = example

    def loss(params):
        after, features = rtu.apply(params[0], carry, x)
        return jnp.sum((head.apply(params[1], features) - target) ** 2), after

    (error, carry), gradient = jax.value_and_grad(loss, has_aux=True)(params)
    updates, moments = optimiser.update(gradient, moments)
    return (optax.apply_updates(params, updates), moments, carry), error


_, errors = jax.lax.scan(learn_step, (params, optimiser.init(params), start), (bits, targets))
for i, error in enumerate(errors.reshape(-1, REPORT).mean(axis=1)):
    print(f"steps {i * REPORT:6} to {(i + 1) * REPORT:6}: mean squared error {error:.4f}")
