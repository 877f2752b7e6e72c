package warehouse.endpoint;

import java.lang.reflect.Field;

/** Fields of Spark's that have no other way in. */
class Fields {
  static Object get(Class owner, Object object, String name) throws Exception {
    return field(owner, name).get(object);
  }

  static void set(Class owner, Object object, String name, Object value) throws Exception {
    field(owner, name).set(object, value);
  }

  private static Field field(Class owner, String name) throws Exception {
    Field field = owner.getDeclaredField(name);
    field.setAccessible(true);
    return field;
  }
}
